// Package adapter writes the bodies of endpoints that do not speak the contract, from
// their operators' templates. It implements market.BodyTemplate.
//
// A template is compiled once into pieces. Each insertion knows its place in the JSON,
// XML or form, so a lead's values cannot change the shape of a body. Check proves with
// sample leads that the bodies are well formed.
package adapter
