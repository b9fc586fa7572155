// Package config reads the document that describes an exchange: its settings,
// suppliers, buyers, suppression lists and campaigns. It has one form, in YAML
// or JSON, whether it comes from a file, the admin API or the log.
//
// A document goes through three steps, and each collects every mistake it finds
// instead of stopping at the first:
//
//	text    -> node tree   positions, ${NAME} expanded        yaml.go, json.go
//	nodes   -> Document    known keys, types, defaults         bind.go
//	Document -> Exchange   limits, references, market's types  compile.go
//
// Between the text and the Document stands an own tree of nodes, and not the
// library's strict decoder, for three reasons: the decoder stops at its first
// error; it turns 8.00 into a float before anyone sees its digits; and its
// messages quote the lines around a mistake, which hold secrets. The rules of a
// strict decode are kept by the binder: an unknown or repeated key is an error
// at its own line.
//
// ${NAME} is expanded inside scalars, after parsing, so that no value can change
// the shape of the document. What came out of the environment is never quoted in
// a message.
//
// What a file gives only the first value of (credentials, secrets, balances,
// pauses, the contents of lists) is handed out apart from the catalog, in
// Firsts.
package config
