"""EmplifAI: labels, schema, readers of the files that its authors hand out, views."""
