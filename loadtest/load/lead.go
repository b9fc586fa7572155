package load

import "strconv"

// Leads generates people by number. The same number gives the same lead, byte for byte.
// Two numbers below MaxLeads never share a phone number, e-mail address or idempotency
// key.
type Leads struct {
	Supplier string
	// Campaigns receive the leads in turn.
	Campaigns []string
}

// MaxLeads is the number of different leads.
const MaxLeads = uint64(len(areas) * exchanges * lines)

const (
	exchanges = 780 // 200 to 979, because an exchange code does not begin with 0 or 1
	lines     = 10_000
)

var (
	areas = [...]string{
		"201", "202", "203", "205", "206", "207", "208", "209", "210", "212", "213", "214", "215", "216", "217", "218",
		"301", "302", "303", "304", "305", "307", "308", "309", "310", "312", "313", "314", "315", "316", "317", "318",
		"401", "402", "404", "405", "406", "407", "408", "409", "410", "412", "413", "414", "415", "417", "419", "423",
		"501", "502", "503", "504", "505", "507", "508", "509", "510", "512", "513", "515", "516", "517", "518", "520",
	}
	firstNames = [...]string{"Maria", "James", "Linda", "Robert", "Patricia", "Michael", "Jennifer", "David", "Elizabeth", "William", "Susan"}
	lastNames  = [...]string{"Johnson", "Smith", "Garcia", "Williams", "Brown", "Martinez", "Davis", "Anderson", "Wilson", "Nguyen", "Taylor", "Moore", "Lee"}
	places     = [...]struct{ state, city, zip string }{
		{"CA", "Sacramento", "95814"},
		{"TX", "Austin", "78701"},
		{"FL", "Orlando", "32801"},
		{"NY", "Albany", "12207"},
		{"CO", "Denver", "80203"},
		{"WA", "Seattle", "98101"},
		{"OH", "Columbus", "43215"},
		{"GA", "Atlanta", "30303"},
		{"AZ", "Phoenix", "85004"},
		{"NV", "Reno", "89501"},
	}
	ages    = [...]string{"18-24", "25-34", "35-44", "45-54", "55+"}
	sources = [...]string{"search", "email", "partner"}
)

// AppendBody appends the body of lead n, about 500 bytes of JSON.
func (l *Leads) AppendBody(dst []byte, n uint64) []byte {
	place := &places[n%uint64(len(places))]
	first, last := firstNames[n%uint64(len(firstNames))], lastNames[n%uint64(len(lastNames))]
	dst = append(dst, `{"flo_campaign_id":"`...)
	dst = append(dst, l.Campaigns[n%uint64(len(l.Campaigns))]...)
	dst = append(append(dst, `","flo_supplier_id":"`...), l.Supplier...)
	dst = append(append(dst, `","first_name":"`...), first...)
	dst = append(append(dst, `","last_name":"`...), last...)
	dst = appendPhone(append(dst, `","phone":"`...), n)
	dst = append(append(append(append(dst, `","email":"`...), first...), '.'), last...)
	dst = append(strconv.AppendUint(append(dst, '.'), n, 10), `@mail.example.com`...)
	dst = append(append(dst, `","state":"`...), place.state...)
	dst = append(append(dst, `","zip":"`...), place.zip...)
	dst = append(append(dst, `","city":"`...), place.city...)
	dst = append(strconv.AppendUint(append(dst, `","line1":"`...), n%9000+1, 10), ` Oak Street`...)
	dst = append(append(dst, `","source":"`...), sources[n%uint64(len(sources))]...)
	dst = append(dst, `","tcpa_consent":true,"consent_cert_url":"https://cert.example.com/c/`...)
	dst = strconv.AppendUint(dst, n, 16)
	dst = append(dst, `","ip_address":"203.0.113.7","homeowner":`...)
	dst = strconv.AppendBool(dst, n%3 != 0)
	dst = strconv.AppendUint(append(dst, `,"vehicle_count":`...), n%4, 10)
	dst = append(append(dst, `,"driver_age_band":"`...), ages[n%uint64(len(ages))]...)
	return append(dst, `"}`...)
}

func appendPhone(dst []byte, n uint64) []byte {
	line := n % lines
	exchange := n / lines % exchanges
	area := areas[n/(lines*exchanges)%uint64(len(areas))]
	dst = append(append(append(dst, '('), area...), `) `...)
	dst = append(strconv.AppendUint(dst, 200+exchange, 10), '-')
	return append(dst, byte('0'+line/1000), byte('0'+line/100%10), byte('0'+line/10%10), byte('0'+line%10))
}

// AppendKey appends the idempotency key of lead n.
func (l *Leads) AppendKey(dst []byte, n uint64) []byte {
	return strconv.AppendUint(append(dst, "lead-"...), n, 10)
}
