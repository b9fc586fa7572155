// Package zipcode finds the ZIP codes around a ZIP code, by the centroids of the US Census Bureau.
// README.md has the source of the centroids and their limits.
package zipcode

import (
	"cmp"
	_ "embed" // for packed
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
)

// packed has the centroids in ascending order of their ZIP codes. An entry is three varints: the
// difference to the ZIP code before, and the differences of latitude and longitude to those of the entry
// before, in thousandths of a degree. The first entry counts from zero.
//
//go:embed centroids.bin
var packed []byte

// centroid is the middle of the area of a ZIP code, as a point on a sphere with the radius 1.
type centroid struct {
	zip     string
	x, y, z float64
}

// unit is the precision of the packed coordinates, in radians. It is at most 111 meters.
const unit = math.Pi / 180 / 1000

// centroids unpacks all centroids at the first call. A program without a search by distance never does.
var centroids = sync.OnceValue(func() (all []centroid) {
	rest := packed
	next := func() int64 {
		n, size := binary.Varint(rest)
		if size <= 0 {
			panic("BUG: centroids.bin is damaged")
		}
		rest = rest[size:]
		return n
	}
	var zip, latitude, longitude int64
	for len(rest) > 0 {
		zip, latitude, longitude = zip+next(), latitude+next(), longitude+next()
		all = append(all, newCentroid(fmt.Sprintf("%05d", zip), float64(latitude)*unit, float64(longitude)*unit))
	}
	return all
})

func newCentroid(zip string, latitude, longitude float64) centroid {
	return centroid{zip, math.Cos(latitude) * math.Cos(longitude), math.Cos(latitude) * math.Sin(longitude), math.Sin(latitude)}
}

const (
	// KilometersPerMile converts the international mile.
	KilometersPerMile = 1.609344

	// earthRadius is the mean radius of the earth in kilometers.
	earthRadius = 6371.0088
)

// FindWithin returns the ZIP codes with a centroid at most this number of kilometers from the centroid of
// the ZIP code center, in ascending order. The center is one of them. isKnown is false if the center has no
// centroid. The distance is that on a sphere, which differs from the true one by at most 0.6 %.
func FindWithin(center string, kilometers float64) (zips []string, isKnown bool) {
	all := centroids()
	i, isKnown := slices.BinarySearchFunc(all, center, func(c centroid, zip string) int { return cmp.Compare(c.zip, zip) })
	if !isKnown {
		return nil, false
	}
	from, chord := all[i], 2*math.Sin(min(kilometers/earthRadius, math.Pi)/2)
	for _, to := range all {
		x, y, z := to.x-from.x, to.y-from.y, to.z-from.z
		if x*x+y*y+z*z <= chord*chord { // straight through the sphere
			zips = append(zips, to.zip)
		}
	}
	return zips, true
}
