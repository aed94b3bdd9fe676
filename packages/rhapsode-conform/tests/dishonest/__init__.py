"""A worker that speaks the protocol rightly, but for one promise that it is told to break."""
