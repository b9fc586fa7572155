package market

// known are the fields that every campaign has, by slot. The first five always
// apply as they stand here; the rest are optional, and a campaign may make them
// stricter.
var known = [FirstCustom]FieldSpec{
	SlotFirstName:        {Name: "first_name", Type: TypeString, Required: true, Contact: true},
	SlotLastName:         {Name: "last_name", Type: TypeString, Required: true, Contact: true},
	SlotPhone:            {Name: "phone", Type: TypePhone, Required: true, Contact: true},
	SlotEmail:            {Name: "email", Type: TypeEmail, Required: true, Contact: true},
	SlotState:            {Name: "state", Type: TypeState, Ping: true},
	SlotSource:           {Name: "source", Type: TypeString, Ping: true},
	SlotTCPAConsent:      {Name: "tcpa_consent", Type: TypeBoolean, Ping: true},
	SlotConsentCertURL:   {Name: "consent_cert_url", Type: typeHTTPS, Ping: true},
	SlotConsentText:      {Name: "consent_text", Type: TypeString},
	SlotConsentTimestamp: {Name: "consent_timestamp", Type: typeTimestamp},
	SlotIPAddress:        {Name: "ip_address", Type: TypeString},
	SlotLine1:            {Name: "line1", Type: TypeString, Contact: true},
	SlotCity:             {Name: "city", Type: TypeString},
	SlotZip:              {Name: "zip", Type: TypeZIP, Ping: true},
	SlotQualityScore:     {Name: "ai_quality_score", Type: TypeNumber, Ping: true},
}

// lastBuiltIn is the last slot whose arriving name no campaign may change.
const lastBuiltIn = SlotState

// knownSlot finds a known field by its name.
func knownSlot(name string) (Slot, bool) {
	for slot := range known {
		if known[slot].Name == name {
			return Slot(slot), true
		}
	}
	return 0, false
}

// addressing are the members of an ingest and of an availability ping that say
// where a lead goes. They are never fields.
func addressing(name []byte) bool {
	switch string(name) {
	case "flo_campaign_id", "flo_supplier_id", "flo_ping_id", "flo_buyer_id":
		return true
	}
	return false
}

// framing are the names that pings and posts have for what is no field of a
// lead, or holds several. No field can be called so towards buyers.
func framing(name []byte) bool {
	switch string(name) {
	case "lead_uuid", "address", "tcpa":
		return true
	}
	return framesPing(name)
}

// framesPing are the members of a ping that are no field of a lead.
func framesPing(name []byte) bool {
	switch string(name) {
	case "auction_id", "vertical", "sub_vertical", "zip3", "expires_at":
		return true
	}
	return addressing(name)
}
