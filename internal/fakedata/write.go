package fakedata

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"pingpost/engine/market/escape"
)

const consentText = "By sending this form I agree to be called and texted about offers at the number above, also by automatic dialing. I need not agree in order to buy."

// AppendPing appends the JSON body of a seller's ping about the lead. The caller adds the
// members auction_id and expires_at, which differ in each ping.
func (l *Lead) AppendPing(dst []byte) []byte {
	return appendObject(dst, slices.Concat(
		[]Field{{"vertical", l.Vertical}, {"state", l.State}, {"zip3", l.Town.Zip[:3]}},
		l.sharedMembers(), []Field{{"consent_cert_url", l.Certificate}},
		slices.DeleteFunc(slices.Clone(l.Fields), func(f Field) bool { return slices.Contains(privateFields, f.Name) }),
	))
}

// AppendLead appends the JSON of the lead with all its contact data, as a seller posts it after
// a ping.
func (l *Lead) AppendLead(dst []byte) []byte {
	return appendObject(dst, slices.Concat(
		[]Field{{"lead_uuid", l.UUID}}, l.personMembers(), []Field{{"address", l.addressMembers()}, {"tcpa", l.consentMembers()}},
		l.sharedMembers(), l.Fields,
	))
}

// AppendIngest appends the JSON body of an ingest, by which a supplier sends a lead to a
// campaign without a ping. It contains all data of the lead.
func (l *Lead) AppendIngest(dst []byte, campaign, supplier string) []byte {
	return appendObject(dst, slices.Concat(
		[]Field{{"flo_campaign_id", campaign}, {"flo_supplier_id", supplier}},
		l.personMembers(), l.addressMembers(), l.consentMembers(), l.sharedMembers(), l.Fields,
	))
}

func (l *Lead) personMembers() []Field {
	return []Field{{"first_name", l.First}, {"last_name", l.Last}, {"email", l.Email}, {"phone", l.Phone}}
}

func (l *Lead) addressMembers() []Field {
	return []Field{{"line1", l.Line1}, {"city", l.Town.Name}, {"state", l.State}, {"zip", l.Town.Zip}}
}

// consentMembers returns the members that prove the person's consent to calls. If the person did
// not consent, these are only the IP address and the certificate's address.
func (l *Lead) consentMembers() (members []Field) {
	if l.Consent {
		members = []Field{{"consent_text", consentText}, {"consent_timestamp", l.Asked.Format(time.RFC3339)}}
	}
	return append(members, Field{"ip_address", l.IP}, Field{"consent_cert_url", l.Certificate})
}

// sharedMembers returns the members that both a ping and a posted lead have: source, consent and
// quality score.
func (l *Lead) sharedMembers() []Field {
	return []Field{{"source", l.Source}, {"tcpa_consent", l.Consent}, {"ai_quality_score", hundredths(l.Quality)}}
}

// hundredths is a number of hundredths, which the JSON has as a decimal, such as 0.75 for 75.
type hundredths int

// appendObject appends members as a JSON object. The names in this package need no escapes.
func appendObject(dst []byte, members []Field) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), m.Name...), `":`...)
		switch value := m.Value.(type) {
		case string:
			dst = escape.AppendJSONString(dst, []byte(value))
		case int:
			dst = strconv.AppendInt(dst, int64(value), 10)
		case hundredths:
			dst = strconv.AppendFloat(dst, float64(value)/100, 'f', -1, 64)
		case bool:
			dst = strconv.AppendBool(dst, value)
		case []Field:
			dst = appendObject(dst, value)
		case [][]Field:
			dst = append(dst, '[')
			for j, object := range value {
				if j > 0 {
					dst = append(dst, ',')
				}
				dst = appendObject(dst, object)
			}
			dst = append(dst, ']')
		default:
			panic(fmt.Sprintf("BUG: a field's value is a %T", value))
		}
	}
	return append(dst, '}')
}
