package exchange

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"pingpost/engine/event"
)

// Contact data is in no field that is told of. But what others wrote freely may
// repeat it: a buyer's word for a refusal, its id of the lead, a seller's id of
// the auction. So everything of that kind is held against the lead's contact part.

// withheld stands for a text that repeats contact data.
const withheld = "(withheld: it repeats contact data)"

// discreet withholds what repeats the contact data of a lead, in all that is told
// with it.
func discreet(found *entry, told ...*Explanation) {
	var contact event.Contact
	if contact.Decode(found.lead().Sealed) != nil {
		contact.Fields = nil
	}
	var person person
	for i := range contact.Fields {
		person.add(contact.Fields[i].Name, string(contact.Fields[i].Text))
	}
	for _, one := range told {
		person.withhold(one)
		if one.Auction != nil {
			person.withhold(one.Auction)
		}
	}
}

// person is what a lead could be known by: words, and the digits of numbers.
type person struct{ words, numbers []string }

// Shorter ones are in too many innocent texts.
const (
	leastWord   = 3
	leastDigits = 7
	nationally  = 10 // digits of a phone number without its country's
)

func (p *person) add(name, value string) {
	if digits := digitsOf(value); len(digits) >= leastDigits && len(digits)*2 >= len(value) {
		p.numbers = append(p.numbers, digits[max(0, len(digits)-nationally):])
	}
	telling := strings.Contains(value, "@")
	for _, part := range []string{"name", "phone", "mail", "line1", "address"} {
		telling = telling || strings.Contains(name, part)
	}
	if value = strings.ToLower(strings.TrimSpace(value)); telling && len(value) >= leastWord {
		p.words = append(p.words, value)
	}
}

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}

// isIn tells whether a text has a number of the person's, or one of its words as a
// word.
func (p *person) isIn(text string) bool {
	digits := digitsOf(text)
	for _, number := range p.numbers {
		if strings.Contains(digits, number) {
			return true
		}
	}
	lower := strings.ToLower(text)
	for _, word := range p.words {
		for at := 0; ; {
			i := strings.Index(lower[at:], word)
			if i < 0 {
				break
			}
			begin, end := at+i, at+i+len(word)
			if !endsInWord(lower[:begin]) && !beginsWord(lower[end:]) {
				return true
			}
			at = end
		}
	}
	return false
}

func beginsWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(first) || unicode.IsDigit(first)
}

func endsInWord(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(last) || unicode.IsDigit(last)
}

func (p *person) withhold(told *Explanation) {
	p.cover(&told.SellerID)
	for i := range told.Candidates {
		p.cover(&told.Candidates[i].Reason)
	}
	for i := range told.Posts {
		for j := range told.Posts[i].Settlements {
			settlement := &told.Posts[i].Settlements[j]
			p.cover(&settlement.Code)
			p.cover(&settlement.BuyerLead)
		}
	}
	for name, value := range told.Fields {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if p.isIn(text) {
			told.Fields[name] = json.RawMessage(`"` + withheld + `"`)
		}
	}
	if told.LeadID != "" {
		told.Why = whyLead(told)
	}
}

func (p *person) cover(text *string) {
	if p.isIn(*text) {
		*text = withheld
	}
}
