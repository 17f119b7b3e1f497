"""What the engine and the app wrote down of themselves, for a person to read: found, cleaned, filtered, followed."""
