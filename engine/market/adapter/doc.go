// Package adapter writes the bodies for buyer endpoints that do not implement the buyer
// contract, from the operator's templates. It implements market.BodyTemplate.
//
// A template is compiled once into pieces. Each insertion has the escaping rule of its
// place in the JSON, XML or form, so a lead's values cannot change a body's structure.
// Check tests with sample leads that the bodies are well formed.
package adapter
