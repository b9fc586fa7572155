package fakedata

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// Vertical is a line of business: it says which fields a lead has beside those
// that all have. The zero value has none.
type Vertical uint8

const (
	Plain Vertical = iota
	Auto           // vehicle_count, driver_age_band, currently_insured, homeowner; birth_date, vehicles
	Solar          // homeowner, monthly_bill, roof, shaded
	Life           // age_band, tobacco, coverage; birth_date
)

// VerticalOf finds the one that a campaign's label means. One that nobody here
// has heard of is Plain: any label may be sold.
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

// AgeBands are the values of driver_age_band, Roofs those of roof. A band has two
// ends, so no driver here is older than the last one's.
var (
	AgeBands = []string{"18-24", "25-34", "35-44", "45-54"}
	Roofs    = []string{"asphalt", "tile", "metal", "flat"}
)

// Field is one field of a vertical. Its value is a string, an int, a bool, or
// []Vehicle.
type Field struct {
	Name    string
	Value   any
	Private bool // no ping carries it: it would say a good deal of who the person is
}

// Fields are those of somebody who asks at a time. There are at most six.
func (v Vertical) Fields(r *rand.Rand, asked time.Time) []Field {
	switch v {
	case Auto:
		return autoFields(r, asked)
	case Solar:
		fields := []Field{
			{Name: "homeowner", Value: Chance(r, 850)},
			{Name: "monthly_bill", Value: 40 + 5*r.IntN(80)},
			{Name: "roof", Value: Pick(r, Roofs)},
		}
		if Chance(r, 600) {
			fields = append(fields, Field{Name: "shaded", Value: Chance(r, 200)})
		}
		return fields
	case Life:
		age, birthday := aged(r, asked, 21, 80)
		return []Field{
			{Name: "age_band", Value: bandOf(age)},
			{Name: "tobacco", Value: Chance(r, 180)},
			{Name: "coverage", Value: 25_000 * (1 + r.IntN(20))},
			{Name: "birth_date", Value: birthday, Private: true},
		}
	}
	return nil
}

func autoFields(r *rand.Rand, asked time.Time) []Field {
	age, birthday := aged(r, asked, 18, 54)
	vehicles := garage(r, asked.Year())
	return []Field{
		{Name: "vehicle_count", Value: len(vehicles)},
		{Name: "driver_age_band", Value: bandOf(age)},
		{Name: "currently_insured", Value: Chance(r, 700)},
		{Name: "homeowner", Value: Chance(r, 550)},
		{Name: "birth_date", Value: birthday, Private: true},
		{Name: "vehicles", Value: vehicles, Private: true},
	}
}

// Counted is a field of the vertical that is an integer, if it has one.
func (v Vertical) Counted() string {
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

// aged is somebody of an age between two, both included, on a day. All are born
// by the 28th, so that a birthday comes every year.
func aged(r *rand.Rand, on time.Time, youngest, oldest int) (age int, birthday string) {
	age = youngest + r.IntN(oldest-youngest+1)
	born := time.Date(on.Year()-age, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
	if born.AddDate(age, 0, 0).After(on) { // this year's birthday is yet to come
		born = born.AddDate(-1, 0, 0)
	}
	return age, born.Format(time.DateOnly)
}

// bandOf is the band of ten years that begins with a five, but for the youngest.
func bandOf(age int) string {
	if age < 25 {
		return AgeBands[0]
	}
	low := (age-5)/10*10 + 5
	return strconv.Itoa(low) + "-" + strconv.Itoa(low+9)
}
