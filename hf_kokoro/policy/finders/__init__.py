"""What each kind of private data looks like in a text; one file a family, none of them quotes what it finds."""
