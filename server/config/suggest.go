package config

import (
	"slices"
	"strings"
)

// suggest names the key that was probably meant, or all there are where none
// is near and few exist.
func suggest(key string, known map[string]int) string {
	best, nearest := 3, ""
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(key) <= 64 {
		for _, name := range names {
			if d := distance(strings.ToLower(key), name); d < best {
				best, nearest = d, name
			}
		}
	}
	switch {
	case nearest != "":
		return "; is " + nearest + " meant?"
	case len(names) <= 8:
		return "; here may stand " + strings.Join(names, ", ")
	}
	return "; remove it, or look for its name in the example"
}

// distance is how many letters must be changed, put in or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(corner+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
