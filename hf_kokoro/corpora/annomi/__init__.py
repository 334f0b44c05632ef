"""AnnoMI: schema, reader of the user's copy, views."""
