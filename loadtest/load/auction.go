package load

import (
	"strconv"
	"time"
)

// Auctions writes the requests of a seller in the ping-post API. It reuses its buffer, so
// only one goroutine may use it. Numbers are those of Leads: ping n and post n are about
// the same person, and auction ids, lead_uuids and keys are unique. A ping contains the
// current time, so a repeated number gives another body under the same key.
type Auctions struct {
	Leads    Leads
	Host     string
	Token    string // access token
	Vertical string

	body []byte
}

// SubVertical is the sub_vertical of every ping.
const SubVertical = "standard"

// pingExpiry is the time from a ping to its expires_at: the highest allowed.
const pingExpiry = 5 * time.Second

// AppendPing appends the complete ping request of lead n. It has as many fields as the
// API's example.
func (a *Auctions) AppendPing(dst []byte, n uint64) []byte {
	place := &places[n%uint64(len(places))]
	body := strconv.AppendUint(append(a.body[:0], `{"auction_id":"seller-auction-`...), n, 10)
	body = append(append(body, `","vertical":"`...), a.Vertical...)
	body = append(append(body, `","sub_vertical":"`+SubVertical+`","state":"`...), place.state...)
	body = append(append(body, `","zip3":"`...), place.zip[:3]...)
	body = strconv.AppendBool(append(body, `","currently_insured":`...), n%2 == 0)
	body = strconv.AppendUint(append(body, `,"vehicle_count":`...), n%4, 10)
	body = append(append(body, `,"driver_age_band":"`...), ages[n%uint64(len(ages))]...)
	body = strconv.AppendUint(append(body, `","ai_quality_score":0.`...), n%90+10, 10)
	body = append(append(body, `,"source":"`...), sources[n%uint64(len(sources))]...)
	body = append(body, `","tcpa_consent":true,"consent_cert_url":"https://cert.example.com/c/`...)
	body = strconv.AppendUint(body, n, 16)
	body = append(body, `","expires_at":"`...)
	body = time.Now().UTC().Add(pingExpiry).AppendFormat(body, "2006-01-02T15:04:05.000Z")
	a.body = append(body, `"}`...)
	return a.appendRequest(dst, "ping", n)
}

// AppendPost appends the complete post request of lead n with a bid token.
func (a *Auctions) AppendPost(dst []byte, n uint64, token []byte) []byte {
	place := &places[n%uint64(len(places))]
	first, last := firstNames[n%uint64(len(firstNames))], lastNames[n%uint64(len(lastNames))]
	body := strconv.AppendUint(append(a.body[:0], `{"auction_id":"seller-auction-`...), n, 10)
	body = append(append(body, `","bid_token":"`...), token...)
	body = strconv.AppendUint(append(body, `","lead":{"lead_uuid":"seller-lead-`...), n, 10)
	body = append(append(body, `","first_name":"`...), first...)
	body = append(append(body, `","last_name":"`...), last...)
	body = append(append(append(append(body, `","email":"`...), first...), '.'), last...)
	body = append(strconv.AppendUint(append(body, '.'), n, 10), `@mail.example.com","phone":"`...)
	body = appendPhone(body, n)
	body = strconv.AppendUint(append(body, `","address":{"line1":"`...), n%9000+1, 10)
	body = append(append(body, ` Oak Street","city":"`...), place.city...)
	body = append(append(body, `","state":"`...), place.state...)
	body = append(append(body, `","zip":"`...), place.zip...)
	body = append(body, `"},"tcpa":{"consent_text":"I agree to be called.","consent_timestamp":"2026-01-02T03:04:05Z","ip_address":"203.0.113.7","consent_cert_url":"https://cert.example.com/c/`...)
	a.body = append(strconv.AppendUint(body, n, 16), `"}}}`...)
	return a.appendRequest(dst, "post", n)
}

func (a *Auctions) appendRequest(dst []byte, verb string, n uint64) []byte {
	dst = append(append(append(dst, "POST /v1/"...), verb...), " HTTP/1.1\r\nHost: "...)
	dst = append(append(dst, a.Host...), "\r\nAuthorization: Bearer "...)
	dst = append(append(dst, a.Token...), "\r\nIdempotency-Key: "...)
	dst = strconv.AppendUint(append(append(dst, verb...), '-'), n, 10)
	dst = append(dst, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	dst = append(strconv.AppendInt(dst, int64(len(a.body)), 10), "\r\n\r\n"...)
	return append(dst, a.body...)
}
