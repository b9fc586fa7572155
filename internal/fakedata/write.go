package fakedata

import (
	"fmt"
	"strconv"
	"time"

	"pingpost/engine/market/escape"
)

const consentText = "By sending this form I agree to be called and texted about offers at the number above, also by automatic dialing. I need not agree in order to buy."

// AppendPing appends the JSON body of a seller's ping about the lead. The caller adds the
// members auction_id and expires_at, which differ in each ping.
func (l *Lead) AppendPing(dst []byte) []byte {
	dst = appendTextMember(append(dst, '{'), "vertical", l.Vertical)
	dst = appendTextMember(dst, "state", l.State)
	dst = appendTextMember(dst, "zip3", l.Town.Zip[:3])
	dst = l.appendSharedMembers(dst)
	dst = appendTextMember(dst, "consent_cert_url", l.Certificate)
	return append(l.appendFields(dst, true), '}')
}

// AppendLead appends the JSON of the lead with all its contact data, as a seller posts it after
// a ping.
func (l *Lead) AppendLead(dst []byte) []byte {
	dst = appendTextMember(append(dst, '{'), "lead_uuid", l.UUID)
	dst = l.appendPerson(dst)
	dst = append(appendMemberName(dst, "address"), '{')
	dst = append(l.appendAddress(dst), '}')
	dst = append(appendMemberName(dst, "tcpa"), '{')
	dst = append(l.appendConsent(dst), '}')
	dst = l.appendSharedMembers(dst)
	return append(l.appendFields(dst, false), '}')
}

// AppendIngest appends the JSON body of an ingest, by which a supplier sends a lead to a
// campaign without a ping. It contains all data of the lead.
func (l *Lead) AppendIngest(dst []byte, campaign, supplier string) []byte {
	dst = appendTextMember(append(dst, '{'), "flo_campaign_id", campaign)
	dst = appendTextMember(dst, "flo_supplier_id", supplier)
	dst = l.appendPerson(dst)
	dst = l.appendAddress(dst)
	dst = l.appendConsent(dst)
	dst = l.appendSharedMembers(dst)
	return append(l.appendFields(dst, false), '}')
}

func (l *Lead) appendPerson(dst []byte) []byte {
	dst = appendTextMember(dst, "first_name", l.First)
	dst = appendTextMember(dst, "last_name", l.Last)
	dst = appendTextMember(dst, "email", l.Email)
	return appendTextMember(dst, "phone", l.Phone)
}

func (l *Lead) appendAddress(dst []byte) []byte {
	dst = appendTextMember(dst, "line1", l.Line1)
	dst = appendTextMember(dst, "city", l.Town.Name)
	dst = appendTextMember(dst, "state", l.State)
	return appendTextMember(dst, "zip", l.Town.Zip)
}

// appendConsent appends the members that prove the person's consent to calls. If the person did
// not consent, these are only the IP address and the certificate's address.
func (l *Lead) appendConsent(dst []byte) []byte {
	if l.Consent {
		dst = appendTextMember(dst, "consent_text", consentText)
		dst = appendTextMember(dst, "consent_timestamp", l.Asked.Format(time.RFC3339))
	}
	dst = appendTextMember(dst, "ip_address", l.IP)
	return appendTextMember(dst, "consent_cert_url", l.Certificate)
}

// appendSharedMembers appends the members that both a ping and a posted lead have: source,
// consent and quality score.
func (l *Lead) appendSharedMembers(dst []byte) []byte {
	dst = appendTextMember(dst, "source", l.Source)
	dst = strconv.AppendBool(appendMemberName(dst, "tcpa_consent"), l.Consent)
	return appendHundredths(appendMemberName(dst, "ai_quality_score"), l.Quality)
}

// appendFields appends the additional fields of the vertical. With ping set it omits private
// ones, such as the birth date.
func (l *Lead) appendFields(dst []byte, ping bool) []byte {
	for i := range l.Fields {
		f := &l.Fields[i]
		if ping && f.Private {
			continue
		}
		dst = appendMemberName(dst, f.Name)
		switch value := f.Value.(type) {
		case string:
			dst = escape.AppendJSONString(dst, []byte(value))
		case int:
			dst = strconv.AppendInt(dst, int64(value), 10)
		case bool:
			dst = strconv.AppendBool(dst, value)
		case []Vehicle:
			dst = appendVehicles(dst, value)
		default:
			panic(fmt.Sprintf("BUG: a field's value is a %T", value))
		}
	}
	return dst
}

func appendVehicles(dst []byte, vehicles []Vehicle) []byte {
	dst = append(dst, '[')
	for i := range vehicles {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendMemberName(append(dst, '{'), "year"), strconv.Itoa(vehicles[i].Year)...)
		dst = appendTextMember(dst, "make", vehicles[i].Make)
		dst = append(appendTextMember(dst, "model", vehicles[i].Model), '}')
	}
	return append(dst, ']')
}

// appendHundredths appends n/100 as a JSON number, such as 0.75 for 75.
func appendHundredths(dst []byte, n int) []byte {
	return strconv.AppendFloat(dst, float64(n)/100, 'f', -1, 64)
}

func appendTextMember(dst []byte, name, value string) []byte {
	return escape.AppendJSONString(appendMemberName(dst, name), []byte(value))
}

// appendMemberName appends a JSON member's name and colon, after a comma if another member
// precedes it. The names in this package need no escapes.
func appendMemberName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), `":`...)
}
