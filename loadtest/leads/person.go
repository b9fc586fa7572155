package leads

import (
	"fmt"
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

var streets = strings.Fields("Oak Maple Cedar Elm Washington Lake Hill Park Main Pine Sunset Church Mill River Spring")

var streetKinds = strings.Fields("St Ave Rd Ln Dr Blvd Ct")

var mailHosts = []string{"example.com", "example.com", "example.org", "example.net", "Mail.Example.com"}

// person is who a lead is about.
type person struct {
	first, last string
	phone       string // E.164
	email       string
	line1       string
	town        town
	state       string
}

// Numbers of one area code that are kept for fiction: 555-0100 to 555-0199.
const fictionalLines = 100

// newPerson makes up somebody. A phone number comes again only when all of its
// state's have come: after several hundred leads of one state, and many
// thousand in total. An e-mail address never does.
func (s *Source) newPerson() person {
	at := s.pickPlace()
	place := &places[at]
	p := person{
		first: pick(s, firstNames), last: pick(s, lastNames),
		state: place.state, town: pick(s, place.towns),
		line1: fmt.Sprintf("%d %s %s", 1+s.rand.IntN(9899), pick(s, streets), pick(s, streetKinds)),
	}
	turn := s.turns[at]
	s.turns[at]++
	area := place.areas[turn%len(place.areas)]
	line := turn / len(place.areas) % fictionalLines
	p.phone = fmt.Sprintf("+1%s5550%d", area, 100+line)
	s.people++
	p.email = letters(p.first) + "." + letters(p.last) + strconv.Itoa(s.people) + "@" + pick(s, mailHosts)
	return p
}

func (s *Source) pickPlace() int {
	left := s.rand.IntN(s.weights)
	for i := range places {
		if left -= places[i].weight; left < 0 {
			return i
		}
	}
	panic("BUG: the weights of the places do not add up")
}

// letters keeps the plain letters of a name, in lower case.
func letters(name string) string {
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

// written is a phone number as people write it.
func (s *Source) written(phone string) string {
	area, exchange, line := phone[2:5], phone[5:8], phone[8:]
	switch s.rand.IntN(5) {
	case 0:
		return "(" + area + ") " + exchange + "-" + line
	case 1:
		return area + "-" + exchange + "-" + line
	case 2:
		return area + exchange + line
	case 3:
		return "1 " + area + " " + exchange + " " + line
	}
	return phone
}

func pick[T any](s *Source, from []T) T { return from[s.rand.IntN(len(from))] }
