// Package errcode has the error codes of the wire format. They are generated from api/errors.yaml,
// which describes the meaning and the remedy of each.
package errcode

// Error holds the properties of an error code.
type Error struct {
	Code   string
	Status int
	Retry  bool   // clients may repeat the request automatically
	Public bool   // the public addresses use it
	Admin  bool   // the admin address uses it
	Do     string // remedy for the client, a sentence
}

// Of returns the properties of a code, or false if the code does not exist.
func Of(code string) (Error, bool) {
	for _, e := range Errors {
		if e.Code == code {
			return e, true
		}
	}
	return Error{}, false
}
