package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// dialectTexts returns the texts of a dialect; the i-th is field i+1.
func dialectTexts(d *market.Dialect) [13]*string {
	return [...]*string{
		&d.Method, &d.ContentType, &d.Headers, &d.KeyHeader,
		&d.Answer.Format, &d.Answer.Accepted, &d.Answer.Yes, &d.Answer.No,
		&d.Answer.Price, &d.Answer.Currency, &d.Answer.Token, &d.Answer.ID, &d.Answer.Reason,
	}
}

const dialectIdempotent = 14

func appendDialect(mm openMessage, d *market.Dialect) {
	for i, text := range dialectTexts(d) {
		putString(mm, uint32(i+1), *text)
	}
	putBool(mm, dialectIdempotent, d.Idempotent)
}

func getDialect(fc *easyproto.FieldContext, d *market.Dialect) bool {
	text := dialectTexts(d)
	return getMessage(fc, func(fc *easyproto.FieldContext) bool {
		switch {
		case fc.FieldNum == dialectIdempotent:
			return getBool(fc, &d.Idempotent)
		case fc.FieldNum > 0 && fc.FieldNum <= uint32(len(text)):
			return getString(fc, text[fc.FieldNum-1])
		}
		return true
	})
}
