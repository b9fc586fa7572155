package load

import "strconv"

// Ingest writes the requests of a supplier. It reuses its buffer, so only one goroutine
// may use it.
type Ingest struct {
	Leads Leads
	Host  string
	Key   string // the supplier's API key

	body []byte
}

// Append appends the complete request of lead n.
func (i *Ingest) Append(dst []byte, n uint64) []byte {
	i.body = i.Leads.AppendBody(i.body[:0], n)
	dst = append(append(dst, "POST /api/v1/ingest HTTP/1.1\r\nHost: "...), i.Host...)
	dst = append(append(dst, "\r\nX-Api-Key: "...), i.Key...)
	dst = i.Leads.AppendKey(append(dst, "\r\nIdempotency-Key: "...), n)
	dst = append(dst, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	dst = append(strconv.AppendInt(dst, int64(len(i.body)), 10), "\r\n\r\n"...)
	return append(dst, i.body...)
}

// OpenRTB writes auctions for prebid-server: one banner on a site, for bidders whose names are OpenRTBBidder
// followed by 1, 2 and so on. It reuses its buffer, so only one goroutine may use it.
type OpenRTB struct {
	Host    string
	Bidders int

	body []byte
}

// OpenRTBBidder is the beginning of the name of each bidder.
const OpenRTBBidder = "pingpost"

// Append appends the complete request of auction n.
func (o *OpenRTB) Append(dst []byte, n uint64) []byte {
	body := strconv.AppendUint(append(o.body[:0], `{"id":"auction-`...), n, 10)
	body = append(body, `","imp":[{"id":"1","banner":{"format":[{"w":300,"h":250}]},"bidfloor":0.5,"bidfloorcur":"USD","ext":{"prebid":{"bidder":{`...)
	for i := range o.Bidders {
		if i > 0 {
			body = append(body, ',')
		}
		body = strconv.AppendInt(append(body, `"`+OpenRTBBidder...), int64(i+1), 10)
		body = append(body, `":{"placementId":"auto"}`...)
	}
	body = append(body, `}}}}],"site":{"page":"https://www.example.com/auto/`...)
	body = strconv.AppendUint(body, n%1000, 10)
	body = append(body, `","publisher":{"id":"sup_bench"}},"device":{"ua":"Mozilla/5.0 (X11; Linux x86_64)","ip":"203.0.113.7","geo":{"country":"USA","region":"`...)
	body = append(append(body, places[n%uint64(len(places))].state...), `"}},"at":1,"tmax":2000,"cur":["USD"]}`...)
	o.body = body
	dst = append(append(dst, "POST /openrtb2/auction HTTP/1.1\r\nHost: "...), o.Host...)
	dst = append(dst, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	dst = append(strconv.AppendInt(dst, int64(len(body)), 10), "\r\n\r\n"...)
	return append(dst, body...)
}
