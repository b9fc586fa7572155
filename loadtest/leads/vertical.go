package leads

import (
	"fmt"
	"time"
)

// Vertical is a line of business: it says which fields a lead has beside those
// that all have. The zero value has none.
type Vertical uint8

const (
	Plain Vertical = iota
	Auto           // vehicle_count, driver_age_band, currently_insured, homeowner
	Solar          // homeowner, monthly_bill, roof, shaded
	Life           // birth_date, tobacco, coverage
)

// AgeBands are the values of driver_age_band, Roofs those of roof.
var (
	AgeBands = []string{"18-24", "25-34", "35-44", "45-54", "55+"}
	Roofs    = []string{"asphalt", "tile", "metal", "flat"}
)

// counted is a field of the vertical that is an integer, for mistakes in it.
func (v Vertical) counted() string {
	switch v {
	case Auto:
		return "vehicle_count"
	case Solar:
		return "monthly_bill"
	case Life:
		return "coverage"
	}
	return ""
}

// describe enters the vertical's fields.
func (v Vertical) describe(s *Source, members map[string]any) {
	switch v {
	case Auto:
		members["vehicle_count"] = s.rand.IntN(5)
		members["driver_age_band"] = pick(s, AgeBands)
		members["currently_insured"] = s.chance(700)
		members["homeowner"] = s.chance(550)
	case Solar:
		members["homeowner"] = s.chance(850)
		members["monthly_bill"] = 40 + 5*s.rand.IntN(80)
		members["roof"] = pick(s, Roofs)
		if s.chance(600) {
			members["shaded"] = s.chance(200)
		}
	case Life:
		day := time.Date(1945, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, s.rand.IntN(60*365))
		members["birth_date"] = day.Format(time.DateOnly)
		members["tobacco"] = s.chance(180)
		members["coverage"] = 25_000 * (1 + s.rand.IntN(20))
	case Plain:
	}
}

// certificate is where a consent is said to be proved.
func (s *Source) certificate() string {
	return fmt.Sprintf("https://consent.example.com/c/%016x", s.rand.Uint64())
}
