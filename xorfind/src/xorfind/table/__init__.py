"""Tables: read from anywhere, every column turned into bits."""
