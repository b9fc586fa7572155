// Package schema has the types of a configuration document, their keys, their defaults
// and the forms of their values. It fills them from the nodes of package syntax and
// reports unknown keys, repeated keys and wrong types.
//
// It does not check limits or references between entries: package config does.
package schema
