"""What an operator decides: the sections, their layers and where their files lie."""
