package leads

import "strings"

// place is a state with what lies in it.
type place struct {
	state  string
	weight int // how often it comes, roughly as people live there
	areas  []string
	towns  []town
}

type town struct{ name, zip string }

// places are the states that leads come from. The towns stand as name and ZIP
// code.
var places = []place{
	row("CA", 39, "213 310 415 510 619 714 818 916", "Los Angeles 90012, San Diego 92103, Sacramento 95814, Fresno 93721, Oakland 94607"),
	row("TX", 30, "210 214 281 512 713 817 915", "Houston 77002, Dallas 75201, Austin 78701, San Antonio 78205, El Paso 79901"),
	row("FL", 22, "305 407 561 727 813 904", "Miami 33130, Orlando 32801, Tampa 33602, Jacksonville 32202, Naples 34102"),
	row("NY", 20, "212 315 516 585 716 914", "New York 10007, Buffalo 14202, Rochester 14604, Syracuse 13202, Yonkers 10701"),
	row("PA", 13, "215 412 570 610 717", "Philadelphia 19107, Pittsburgh 15219, Allentown 18101, Erie 16501"),
	row("IL", 13, "217 309 312 618 815", "Chicago 60602, Springfield 62701, Peoria 61602, Rockford 61101"),
	row("OH", 12, "216 330 419 513 614", "Columbus 43215, Cleveland 44114, Cincinnati 45202, Toledo 43604"),
	row("GA", 11, "229 404 478 706 912", "Atlanta 30303, Augusta 30901, Savannah 31401, Macon 31201"),
	row("NC", 11, "252 336 704 828 919", "Charlotte 28202, Raleigh 27601, Durham 27701, Asheville 28801"),
	row("MI", 10, "248 313 517 616 734", "Detroit 48226, Lansing 48933, Ann Arbor 48104, Flint 48502"),
	row("NJ", 9, "201 609 732 856 973", "Newark 07102, Trenton 08608, Camden 08102, Paterson 07505"),
	row("VA", 9, "276 540 703 757 804", "Richmond 23219, Norfolk 23510, Roanoke 24011, Arlington 22201"),
	row("WA", 8, "206 253 360 425 509", "Seattle 98104, Spokane 99201, Tacoma 98402, Olympia 98501"),
	row("AZ", 7, "480 520 602 623 928", "Phoenix 85003, Tucson 85701, Mesa 85201, Flagstaff 86001"),
	row("TN", 7, "423 615 731 865 901", "Nashville 37219, Memphis 38103, Knoxville 37902"),
	row("MA", 7, "413 508 617 781 978", "Boston 02108, Worcester 01608, Springfield 01103"),
	row("IN", 7, "219 260 317 574 812", "Indianapolis 46204, Fort Wayne 46802, Evansville 47708"),
	row("MO", 6, "314 417 573 636 816", "Kansas City 64106, Saint Louis 63101, Columbia 65201"),
	row("CO", 6, "303 719 720 970", "Denver 80202, Colorado Springs 80903, Boulder 80302"),
	row("MN", 6, "218 507 612 651 763", "Minneapolis 55401, Saint Paul 55101, Duluth 55802"),
	row("NV", 3, "702 725 775", "Las Vegas 89101, Reno 89501, Carson City 89701"),
	row("UT", 3, "385 435 801", "Salt Lake City 84101, Provo 84601, Ogden 84401"),
	row("OR", 4, "458 503 541 971", "Portland 97204, Eugene 97401, Salem 97301"),
	row("HI", 1, "808", "Honolulu 96813, Hilo 96720"),
}

func row(state string, weight int, areas, towns string) place {
	p := place{state: state, weight: weight, areas: strings.Fields(areas)}
	for text := range strings.SplitSeq(towns, ", ") {
		end := strings.LastIndexByte(text, ' ')
		p.towns = append(p.towns, town{name: text[:end], zip: text[end+1:]})
	}
	return p
}

// States are those that leads come from.
func States() []string {
	states := make([]string, 0, len(places))
	for i := range places {
		states = append(states, places[i].state)
	}
	return states
}
