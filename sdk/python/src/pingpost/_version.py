"""The version of this package, sent in its User-Agent."""

VERSION = "1.0.0"
