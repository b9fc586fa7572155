package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// Founded is the first event of a log. It identifies the exchange, and checks the key of
// the log's hashes, so that a log is never opened with another exchange's key.
type Founded struct {
	Epoch    [16]byte // random; a restored copy gets a new one
	KeyCheck [16]byte
	At       int64
}

func (*Founded) Kind() Kind { return KindFounded }
func (f *Founded) reset()   { *f = Founded{} }

func (f *Founded) marshal(mm openMessage) {
	putID(mm, 1, f.Epoch)
	putID(mm, 2, f.KeyCheck)
	putFixed(mm, 3, uint64(f.At))
}

func (f *Founded) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, &f.Epoch)
	case 2:
		return getID(fc, &f.KeyCheck)
	case 3:
		return getFixed(fc, &f.At)
	}
	return true
}

// ObjectKind is the kind of object that a configured name belongs to.
type ObjectKind uint8

const (
	ObjectSupplier ObjectKind = 1
	ObjectBuyer    ObjectKind = 2
	ObjectCampaign ObjectKind = 3
	ObjectList     ObjectKind = 4
)

// NumberedName gives a configured name its permanent number. Numbers count up within a kind, from
// 1.
type NumberedName struct {
	Kind ObjectKind
	Ref  market.Ref
	ID   string
}

// NumberedCap gives a cap its permanent number.
type NumberedCap struct {
	Ref market.Ref
	Key market.CapKey
}

// CatalogSet puts a configuration into force: an immutable file beside the log, without
// secrets, identified by its hash. A catalog of ten thousand campaigns is too large for a
// frame.
type CatalogSet struct {
	Version  uint32
	Document string // hex SHA-256 of the file
	By       string // the operator; empty: the exchange itself, at a start or a reload
	Overlay  string // hex SHA-256 of the file with the entries made through the API; empty: none
	From     ConfigOrigin
}

// ConfigOrigin is the source of a configuration.
type ConfigOrigin uint8

const (
	FromFile     ConfigOrigin = 1 // the configuration file, at a start or a reload
	FromAPI      ConfigOrigin = 2 // one entry that an operator created, changed or removed
	FromDocument ConfigOrigin = 3 // a whole document from an operator
)

var configOriginNames = [...]string{FromFile: "file", FromAPI: "api", FromDocument: "document"}

// String returns the origin's name; empty if an earlier program wrote the event.
func (o ConfigOrigin) String() string {
	if int(o) < len(configOriginNames) {
		return configOriginNames[o]
	}
	return ""
}

func (*CatalogSet) Kind() Kind { return KindCatalogSet }
func (c *CatalogSet) reset()   { *c = CatalogSet{} }

func (c *CatalogSet) marshal(mm openMessage) {
	putUint(mm, 1, uint64(c.Version))
	putString(mm, 2, c.Document)
	putString(mm, 3, c.By)
	putString(mm, 4, c.Overlay)
	putUint(mm, 5, uint64(c.From))
}

func (c *CatalogSet) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getUint32(fc, &c.Version)
	case 2:
		return getString(fc, &c.Document)
	case 3:
		return getString(fc, &c.By)
	case 4:
		return getString(fc, &c.Overlay)
	case 5:
		return getByte(fc, &c.From)
	}
	return true
}

// NamesNumbered numbers new names and caps, several at a time. It precedes the catalog that
// has them, and is harmless without it.
type NamesNumbered struct {
	Names []NumberedName
	Caps  []NumberedCap
}

func (*NamesNumbered) Kind() Kind { return KindNamesGiven }
func (c *NamesNumbered) reset()   { *c = NamesNumbered{Names: c.Names[:0], Caps: c.Caps[:0]} }

func (c *NamesNumbered) marshal(mm openMessage) {
	for i := range c.Names {
		inner := mm.AppendMessage(1)
		putUint(inner, 1, uint64(c.Names[i].Kind))
		putUint(inner, 2, uint64(c.Names[i].Ref))
		putString(inner, 3, c.Names[i].ID)
	}
	for i := range c.Caps {
		inner := mm.AppendMessage(2)
		key := &c.Caps[i].Key
		putUint(inner, 1, uint64(c.Caps[i].Ref))
		putUint(inner, 2, uint64(key.Scope))
		putUint(inner, 3, uint64(key.Campaign))
		putUint(inner, 4, uint64(key.Buyer))
		putUint(inner, 5, uint64(key.Unit))
		putUint(inner, 6, uint64(key.Period))
		putString(inner, 7, key.Zone)
	}
}

func (c *NamesNumbered) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		var name *NumberedName
		c.Names, name = appendZero(c.Names)
		*name = NumberedName{}
		return getMessage(fc, name.decodeField)
	case 2:
		var name *NumberedCap
		c.Caps, name = appendZero(c.Caps)
		*name = NumberedCap{}
		return getMessage(fc, name.decodeField)
	}
	return true
}

func (n *NumberedName) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getByte(fc, &n.Kind)
	case 2:
		return getRef(fc, &n.Ref)
	case 3:
		return getString(fc, &n.ID)
	}
	return true
}

func (n *NumberedCap) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getRef(fc, &n.Ref)
	case 2:
		return getByte(fc, &n.Key.Scope)
	case 3:
		return getRef(fc, &n.Key.Campaign)
	case 4:
		return getRef(fc, &n.Key.Buyer)
	case 5:
		return getByte(fc, &n.Key.Unit)
	case 6:
		return getByte(fc, &n.Key.Period)
	case 7:
		return getString(fc, &n.Key.Zone)
	}
	return true
}
