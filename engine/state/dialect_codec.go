package state

import "pingpost/engine/market"

func dialectText(d *market.Dialect) [13]*string {
	return [...]*string{
		&d.Method, &d.ContentType, &d.Headers, &d.KeyHeader,
		&d.Reading.Format, &d.Reading.Accepted, &d.Reading.Yes, &d.Reading.No,
		&d.Reading.Price, &d.Reading.Currency, &d.Reading.Token, &d.Reading.ID, &d.Reading.Reason,
	}
}

// writeDialect writes how an endpoint is spoken to; most speak the contract, and
// take one byte.
func writeDialect(w *writer, d *market.Dialect) {
	own := *d != market.Dialect{}
	w.bool(own)
	if !own {
		return
	}
	for _, text := range dialectText(d) {
		w.string(*text)
	}
	w.bool(d.Idempotent)
}

func readDialect(r *reader, d *market.Dialect) {
	if !r.bool() {
		return
	}
	for _, text := range dialectText(d) {
		*text = r.string()
	}
	d.Idempotent = r.bool()
}

// cloneDialect copies texts that may alias a frame.
func cloneDialect(d market.Dialect) market.Dialect {
	for _, text := range dialectText(&d) {
		*text = clone(*text)
	}
	return d
}
