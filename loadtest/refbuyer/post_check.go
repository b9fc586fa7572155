package refbuyer

import "strings"

const (
	maxKey     = 255
	maxID      = 64   // characters of an identifier
	maxField   = 4096 // bytes of other texts, as in the exchange
	maxAddress = 2048 // characters of a web address
)

// postBody has the checked members of a post.
type postBody struct {
	AuctionID *string `json:"auction_id"`
	BidToken  *string `json:"bid_token"` // absent without an auction
	Lead      *struct {
		LeadUUID  *string `json:"lead_uuid"`
		FirstName *string `json:"first_name"`
		LastName  *string `json:"last_name"`
		Email     *string `json:"email"`
		Phone     *string `json:"phone"`
		Address   *struct {
			State *string `json:"state"`
		} `json:"address"`
	} `json:"lead"`
}

// check returns an error for each field that is missing or wrong.
func (p *postBody) check() []fieldError {
	wrong := checkText(nil, "auction_id", p.AuctionID, maxID)
	if p.Lead == nil {
		return append(wrong, fieldError{"lead", "missing_required", "an object"})
	}
	wrong = checkText(wrong, "lead.lead_uuid", p.Lead.LeadUUID, maxID)
	wrong = checkText(wrong, "lead.first_name", p.Lead.FirstName, maxField)
	wrong = checkText(wrong, "lead.last_name", p.Lead.LastName, maxField)
	wrong = checkText(wrong, "lead.email", p.Lead.Email, maxField)
	if p.Lead.Email != nil && *p.Lead.Email != "" && !strings.Contains(*p.Lead.Email, "@") {
		wrong = append(wrong, fieldError{"lead.email", "invalid_format", "an e-mail address"})
	}
	wrong = checkText(wrong, "lead.phone", p.Lead.Phone, maxField)
	if p.Lead.Phone != nil && *p.Lead.Phone != "" && !isE164(*p.Lead.Phone) {
		wrong = append(wrong, fieldError{"lead.phone", "invalid_format", "a number as E.164: + and 7 to 15 digits"})
	}
	return wrong
}

func checkText(wrong []fieldError, field string, text *string, limit int) []fieldError {
	switch {
	case text == nil || strings.TrimSpace(*text) == "":
		return append(wrong, fieldError{field, "missing_required", "a text"})
	case len(*text) > limit:
		return append(wrong, fieldError{field, "too_long", "a shorter text"})
	}
	return wrong
}

func isE164(s string) bool {
	digits, plus := strings.CutPrefix(s, "+")
	if !plus || len(digits) < 7 || len(digits) > 15 || digits[0] == '0' {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}
