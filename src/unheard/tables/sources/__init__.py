"""Where tables come from: files, frames, databases, standard input."""
