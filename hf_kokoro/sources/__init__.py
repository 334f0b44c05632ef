"""Upstream bytes to plain records: the only place that knows upstream's spelling, encodings and quirks."""
