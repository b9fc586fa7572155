package exchange

import (
	"bytes"

	"pingpost/engine/event"
	"pingpost/engine/market/format"
	"pingpost/server/admin"
)

// wanted is a person by a phone number, as E.164 has it, or by an e-mail address.
type wanted struct {
	phone, email []byte
	room         []byte
}

func newWanted(who *admin.Erasure) *wanted {
	return &wanted{phone: []byte(who.Phone), email: []byte(who.Email)}
}

// isIn tells whether one of a contact part's fields is the number or the address. A
// text that only has it somewhere is not: erasing cannot be taken back.
func (w *wanted) isIn(fields []event.Field) bool {
	for i := range fields {
		if w.is(fields[i].Text) {
			return true
		}
	}
	return false
}

func (w *wanted) is(text []byte) (is bool) {
	text = bytes.TrimSpace(text)
	if len(w.email) > 0 {
		return bytes.EqualFold(text, w.email)
	}
	if bytes.Equal(text, w.phone) {
		return true
	}
	var ok bool
	w.room, ok = format.ParsePhone(w.room[:0], text)
	return ok && bytes.Equal(w.room, w.phone)
}
