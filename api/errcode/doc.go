// Package errcode has the codes of errors as the wire has them. They are made from
// api/errors.yaml, where it says of each what it means and what to do.
package errcode

// Error is what every answer with a code has in common.
type Error struct {
	Code   string
	Status int
	Retry  bool // the same request may be sent again by itself
	Public bool // the public address answers with it
	Admin  bool // the admin address does
}

// Of finds an error by its code; not ok: there is none of this code.
func Of(code string) (Error, bool) {
	for _, e := range Errors {
		if e.Code == code {
			return e, true
		}
	}
	return Error{}, false
}
