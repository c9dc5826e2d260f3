"""One file a page. Each defines show(), which reads top to bottom the way the page looks."""
