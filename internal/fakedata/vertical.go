package fakedata

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// Vertical is a line of business, such as auto insurance. It determines which additional fields
// a made-up lead has. The zero value Plain has no additional fields.
type Vertical uint8

const (
	Plain Vertical = iota
	Auto           // vehicle_count, driver_age_band, currently_insured, homeowner; birth_date, vehicles
	Solar          // homeowner, monthly_bill, roof, shaded
	Life           // age_band, tobacco, coverage; birth_date
)

// VerticalOf returns the vertical for a campaign's label, or Plain for an unknown label.
func VerticalOf(label string) Vertical {
	switch label {
	case "auto", "auto_insurance":
		return Auto
	case "solar":
		return Solar
	case "life", "life_insurance":
		return Life
	}
	return Plain
}

// AgeBands are the values of driver_age_band, and Roofs those of roof. No driver here is older
// than the last band.
var (
	AgeBands = []string{"18-24", "25-34", "35-44", "45-54"}
	Roofs    = []string{"asphalt", "tile", "metal", "flat"}
)

// Field is a member of a lead's JSON, such as a field of its vertical. Its value is a string, an
// int, a bool, hundredths, an object ([]Field) or a list of objects.
type Field struct {
	Name  string
	Value any
}

// privateFields are not part of a ping, because they help to identify the person.
var privateFields = []string{"birth_date", "vehicles"}

// RandomFields returns the vertical's additional fields with random values, at most six. The
// person asked for offers at askedForOffersAt.
func (v Vertical) RandomFields(r *rand.Rand, askedForOffersAt time.Time) []Field {
	switch v {
	case Auto:
		return randomCarInsuranceFields(r, askedForOffersAt)
	case Solar:
		fields := []Field{
			{"homeowner", Chance(r, 850)},
			{"monthly_bill", 40 + 5*r.IntN(80)},
			{"roof", Pick(r, Roofs)},
		}
		if Chance(r, 600) {
			fields = append(fields, Field{"shaded", Chance(r, 200)})
		}
		return fields
	case Life:
		age, birthday := randomAge(r, askedForOffersAt, 21, 80)
		return []Field{
			{"age_band", ageBandOf(age)},
			{"tobacco", Chance(r, 180)},
			{"coverage", 25_000 * (1 + r.IntN(20))},
			{"birth_date", birthday},
		}
	}
	return nil
}

func randomCarInsuranceFields(r *rand.Rand, askedForOffersAt time.Time) []Field {
	age, birthday := randomAge(r, askedForOffersAt, 18, 54)
	vehicles := randomVehicles(r, askedForOffersAt.Year())
	return []Field{
		{"vehicle_count", len(vehicles)},
		{"driver_age_band", ageBandOf(age)},
		{"currently_insured", Chance(r, 700)},
		{"homeowner", Chance(r, 550)},
		{"birth_date", birthday},
		{"vehicles", vehicles},
	}
}

// randomAge returns a random age from youngest to oldest, and a birthday that gives this age at
// the time at. The birthday is before the 29th, so that it exists in every month and year.
func randomAge(r *rand.Rand, at time.Time, youngest, oldest int) (age int, birthday string) {
	age = youngest + r.IntN(oldest-youngest+1)
	born := time.Date(at.Year()-age, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
	if born.AddDate(age, 0, 0).After(at) { // this year's birthday is still in the future
		born = born.AddDate(-1, 0, 0)
	}
	return age, born.Format(time.DateOnly)
}

// ageBandOf returns the age band of an age, such as 25-34. Each band covers ten years, except
// the youngest, 18-24.
func ageBandOf(age int) string {
	if age < 25 {
		return AgeBands[0]
	}
	low := (age-5)/10*10 + 5
	return strconv.Itoa(low) + "-" + strconv.Itoa(low+9)
}
