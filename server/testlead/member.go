package testlead

import (
	"encoding/json"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/internal/strictjson"
)

// Member is a member of a lead, with its value as JSON.
type Member struct {
	Name  string
	Value json.RawMessage
}

// AppendObject appends the members as a JSON object.
func AppendObject(dst []byte, members []Member) []byte {
	dst = append(dst, '{')
	for i := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(escape.AppendJSONString(dst, []byte(members[i].Name)), ':')
		dst = append(dst, members[i].Value...)
	}
	return append(dst, '}')
}

// FindFaults returns the field errors that an ingest with these members would get from the campaign.
func FindFaults(c *market.Campaign, members []Member) []market.FieldError {
	_, faults := readLead(c, members)
	return faults
}

// readLead reads members as an ingest does.
func readLead(c *market.Campaign, members []Member) (lead *market.Lead, faults []market.FieldError) {
	lead = new(market.Lead)
	lead.Reset(c.Mapping.SlotCount())
	now := timeInZoneOf(c)
	lead.SetDecisionTime(now.UnixNano(), now.Location())
	faults = c.Mapping.FillLeadFromIngest(lead, parseMembers(AppendObject(nil, members)), nil)
	faults = lead.AppendConsentCertificateError(c, faults, c.Mapping.FieldNameFromSuppliers(market.SlotConsentCertURL))
	return lead, faults
}

// timeInZoneOf returns the present time in the campaign's zone, for filters on ages.
func timeInZoneOf(c *market.Campaign) time.Time { return time.Now().In(c.Zone) }

func parseMembers(body []byte) []market.JSONMember {
	var object strictjson.Object
	if err := object.Parse(body); err != nil {
		panic("BUG: a made-up lead is not a valid JSON object: " + err.Error())
	}
	return object.Members()
}

// encodeMemberValue returns the value of a parsed member as JSON text again.
func encodeMemberValue(m *market.JSONMember) json.RawMessage {
	if m.Kind == market.JSONString {
		return escape.AppendJSONString(nil, m.Text)
	}
	return m.Text
}
