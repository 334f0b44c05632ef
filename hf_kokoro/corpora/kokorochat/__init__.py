"""KokoroChat: schema, reader, faults, views, splits, labels, the edition that the paper counted."""
