"""The HTTP of the model server: sockets, one request each, and where it goes."""
