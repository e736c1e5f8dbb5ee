"""Where does it live? In a store: what one promises, the filters it answers, and SQLite."""
