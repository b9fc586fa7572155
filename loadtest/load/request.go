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
