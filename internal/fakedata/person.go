package fakedata

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

var firstNames = strings.Fields(`
	Ada Alan Alice Amara Andre Anna Aisha Ben Björn Brigid Carlos Carmen Chen Clara Daniel Dara Diego Elena Elijah
	Emma Esther Fatima Felix Grace Hannah Hassan Hugo Imani Ines Isaac Jamal Jane Joao Jordan José Julia Kai Karen
	Keiko Kwame Lars Leila Liam Lucia Maria Marcus Mei Miguel Nadia Noah Noor Olga Omar Oscar Paula Pedro Priya Quinn
	Rachel Rafael Ravi Renée Rosa Ruth Samuel Sara Sean Sofia Tariq Teresa Thomas Uma Victor Wei Yara Yusuf Zoë
`)

var lastNames = strings.Fields(`
	Abbott Adeyemi Ali Alvarez Anderson Baker Bauer Begum Brown Campbell Carter Castillo Chen Clark Cohen Cruz Davis
	Diaz Dubois Edwards Evans Fischer Fleming Flores Foster Garcia Gomez Green Gupta Hall Harris Hernandez Hughes Ito
	Jackson Jensen Johnson Jones Kaur Kelly Khan Kim King Kowalski Lee Lewis Li Lopez MacDonald Martin Mbeki Mendoza
	Mitchell Moore Müller Murphy Nguyen Núñez O'Brien O'Neil Okafor Olsen Ortiz Park Patel Perez Petrov Phillips Reyes
	Rivera Robinson Rossi Saint-Clair Sanchez Santos Schmidt Scott Shah Silva Singh Smith Stewart Suzuki Taylor Torres
	Tran Turner Walker Wang Washington White Williams Wilson Wright Yang Young Zhang
`)

var (
	streets     = strings.Fields("Oak Maple Cedar Elm Washington Lake Hill Park Main Pine Sunset Church Mill River Spring")
	streetKinds = strings.Fields("St Ave Rd Ln Dr Blvd Ct")
)

// Person is the made-up contact data of a lead.
type Person struct {
	First, Last string
	Phone       string // E.164
	Email       string
	Line1       string
	Town        Town
	State       string
}

// MakePerson returns a made-up person who lives in the place. phoneIndex selects one of the place's
// phone numbers. mailboxNumber becomes part of the e-mail address, so different numbers give
// different addresses.
func (p *USStateData) MakePerson(r *rand.Rand, phoneIndex, mailboxNumber int, mailHost string) Person {
	person := Person{
		First: Pick(r, firstNames), Last: Pick(r, lastNames),
		Phone: p.Phone(phoneIndex), Line1: p.randomStreetAddress(r), Town: Pick(r, p.Towns), State: p.State,
	}
	person.Email = lowerASCIILetters(person.First) + "." + lowerASCIILetters(person.Last) + strconv.Itoa(mailboxNumber) + "@" + mailHost
	return person
}

// randomStreetAddress returns the first line of an address: a street and number, or a box
// number in a postal area of the armed forces.
func (p *USStateData) randomStreetAddress(r *rand.Rand) string {
	number := strconv.Itoa(1 + r.IntN(9899))
	if p.isMilitary() {
		return "PSC " + strconv.Itoa(1+r.IntN(899)) + " Box " + number
	}
	return number + " " + Pick(r, streets) + " " + Pick(r, streetKinds)
}

// lowerASCIILetters returns the letters of a name in lower case, for an e-mail address. It
// drops letters outside ASCII, such as ö.
func lowerASCIILetters(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
}

// Pick returns a random element of from. All elements are equally likely.
func Pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// Chance returns true with a probability of thousandths/1000.
func Chance(r *rand.Rand, thousandths int) bool { return r.IntN(1000) < thousandths }
