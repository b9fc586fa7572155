package fakedata

import (
	"math/rand/v2"
	"strings"
)

// models lists car models that were sold in the United States, with their model years. The
// first word of a name is the make.
var models = []struct {
	name       string
	from, till int // model years; till is 0 if the model is still in production
}{
	{"Toyota Camry", 1983, 0},
	{"Toyota Corolla", 1967, 0},
	{"Toyota RAV4", 1996, 0},
	{"Honda Civic", 1973, 0},
	{"Honda Accord", 1976, 0},
	{"Honda CR-V", 1997, 0},
	{"Ford F-150", 1975, 0},
	{"Ford Escape", 2001, 0},
	{"Ford Fusion", 2006, 2020},
	{"Ford Explorer", 1991, 0},
	{"Chevrolet Silverado", 1999, 0},
	{"Chevrolet Malibu", 1997, 2025},
	{"Chevrolet Equinox", 2005, 0},
	{"Nissan Altima", 1993, 0},
	{"Nissan Rogue", 2008, 0},
	{"Hyundai Elantra", 1992, 0},
	{"Hyundai Tucson", 2005, 0},
	{"Kia Soul", 2010, 2025},
	{"Kia Sorento", 2003, 0},
	{"Jeep Wrangler", 1987, 0},
	{"Jeep Cherokee", 2014, 2023},
	{"Subaru Outback", 1995, 0},
	{"Subaru Forester", 1998, 0},
	{"Dodge Charger", 2006, 2023},
	{"Mazda CX-5", 2013, 0},
	{"Volkswagen Jetta", 1980, 0},
	{"GMC Sierra", 1999, 0},
	{"Tesla Model 3", 2017, 0},
}

// maxVehicleAge is the greatest age, in years, of a car in a made-up lead.
const maxVehicleAge = 19

// randomVehicles returns one to four cars that a person wants to insure, mostly one, each with year,
// make and model. No model year is later than latestYear.
func randomVehicles(r *rand.Rand, latestYear int) [][]Field {
	n := 1
	for n < 4 && Chance(r, 420) {
		n++
	}
	vehicles := make([][]Field, n)
	for i := range vehicles {
		model := Pick(r, models)
		first, last := max(model.from, latestYear-maxVehicleAge), latestYear
		if model.till != 0 {
			last = min(last, model.till)
		}
		name, rest, _ := strings.Cut(model.name, " ")
		vehicles[i] = []Field{{"year", first + r.IntN(last-first+1)}, {"make", name}, {"model", rest}}
	}
	return vehicles
}
