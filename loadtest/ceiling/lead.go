package ceiling

// Lead is the body of an ingest.
type Lead struct {
	Campaign   string  `json:"flo_campaign_id"`
	Supplier   string  `json:"flo_supplier_id"`
	FirstName  string  `json:"first_name"`
	LastName   string  `json:"last_name"`
	Phone      string  `json:"phone"`
	Email      string  `json:"email"`
	State      string  `json:"state"`
	Zip        string  `json:"zip"`
	City       string  `json:"city"`
	Line1      string  `json:"line1"`
	Source     string  `json:"source"`
	Consent    bool    `json:"tcpa_consent"`
	ConsentURL string  `json:"consent_cert_url"`
	Address    string  `json:"ip_address"`
	Homeowner  bool    `json:"homeowner"`
	Vehicles   int     `json:"vehicle_count"`
	AgeBand    string  `json:"driver_age_band"`
	Quality    float64 `json:"ai_quality_score"`
}

// complete reports whether the required members are present.
func (l *Lead) complete() bool {
	return l.Campaign != "" && l.Supplier != "" && l.FirstName != "" && l.LastName != "" && l.Phone != "" && l.Email != ""
}
