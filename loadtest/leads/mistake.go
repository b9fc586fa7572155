package leads

import "bytes"

// Mistake is what is wrong with a lead, on purpose.
type Mistake uint8

const (
	None Mistake = iota
	NoPhone
	ShortPhone
	BadEmail
	BlankName
	NoSuchState
	TextForNumber // only where the vertical has a number
	NoCertificate // only where the campaign requires one of its source
	NoSuchCampaign
	OtherSupplier
	CutShort // no JSON any more
	mistakes
)

// Refusal is what an exchange says to a mistake: a status and an error code,
// and of an invalid payload which code on which field.
type Refusal struct {
	Status      int
	Error       string
	Field, Code string
}

var refusals = [mistakes]Refusal{
	NoPhone:        {422, "invalid_payload", "phone", "missing_required"},
	ShortPhone:     {422, "invalid_payload", "phone", "invalid_format"},
	BadEmail:       {422, "invalid_payload", "email", "invalid_format"},
	BlankName:      {422, "invalid_payload", "first_name", "missing_required"},
	NoSuchState:    {422, "invalid_payload", "state", "invalid_format"},
	TextForNumber:  {422, "invalid_payload", "", "wrong_type"},
	NoCertificate:  {422, "invalid_payload", "consent_cert_url", "missing_required"},
	NoSuchCampaign: {422, "invalid_payload", "flo_campaign_id", "unknown"},
	OtherSupplier:  {403, "forbidden", "", ""},
	CutShort:       {400, "malformed_json", "", ""},
}

// Refusal is the answer that the mistake has earned. The field of a number that
// is a text depends on the vertical and is left empty.
func (m Mistake) Refusal() Refusal { return refusals[m] }

// possible tells whether the mistake can be made in a campaign.
func (m Mistake) possible(c *Campaign) bool {
	switch m {
	case None:
		return false
	case TextForNumber:
		return c.Vertical.Counted() != ""
	case NoCertificate:
		return c.Certified != ""
	}
	return true
}

// pickMistake chooses one of those that are possible.
func (s *Source) pickMistake(c *Campaign) Mistake {
	for {
		if m := 1 + Mistake(s.rand.IntN(int(mistakes)-1)); m.possible(c) {
			return m
		}
	}
}

// spoil makes the mistake in a lead's members; that of its text is cut's.
func (m Mistake) spoil(c *Campaign, members map[string]any) {
	switch m {
	case NoPhone:
		delete(members, "phone")
	case ShortPhone:
		members["phone"] = "555-0142"
	case BadEmail:
		members["email"] = "somebody at example.com"
	case BlankName:
		members["first_name"] = "  "
	case NoSuchState:
		members["state"] = "ZZ"
	case TextForNumber:
		members[c.Vertical.Counted()] = "two or three"
	case NoCertificate:
		members["source"] = c.Certified
		delete(members, "consent_cert_url")
	case NoSuchCampaign:
		members["flo_campaign_id"] = "cmp_of_yesterday"
	case OtherSupplier:
		members["flo_supplier_id"] = "sup_somebody_else"
	}
}

// cut ends a text before its end, where that was the mistake.
func (m Mistake) cut(text []byte) []byte {
	if m != CutShort {
		return text
	}
	return bytes.TrimRight(text[:len(text)/2], " ,:{")
}
