"""Reference pages for people who build on a package, made of its docstrings."""
