// Package config reads a configuration document: the settings, suppliers, buyers,
// suppression lists and campaigns of an exchange. A document has the same form in YAML
// and JSON, and whether it is read from a file, the admin API or the log.
//
// Reading has three steps. Each step collects all mistakes instead of stopping at the
// first one. Only a text that cannot be parsed stops the reading.
//
//	text     -> nodes     positions, ${NAME} expanded        package syntax
//	nodes    -> Document  known keys, types, defaults        package schema
//	Document -> CompiledDocument  limits, references, market types   this package
//
// The document gives only the initial value of credentials, secrets, balances, pauses
// and list contents. CompiledDocument returns these values in Initial, apart from the catalog.
// The exception is a variable in an address: its value replaces the stored one.
package config
