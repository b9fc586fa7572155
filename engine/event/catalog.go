package event

import (
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

func (f *Founded) encodeOrDecode(pb *protobufCodec) {
	idField(pb, 1, &f.Epoch)
	idField(pb, 2, &f.KeyCheck)
	fixed64Field(pb, 3, &f.At)
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

func (c *CatalogSet) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &c.Version)
	stringField(pb, 2, &c.Document)
	stringField(pb, 3, &c.By)
	stringField(pb, 4, &c.Overlay)
	enumField(pb, 5, &c.From)
}

// NamesNumbered numbers new names and caps, several at a time. It precedes the catalog that
// has them, and is harmless without it.
type NamesNumbered struct {
	Names []NumberedName
	Caps  []NumberedCap
}

func (*NamesNumbered) Kind() Kind { return KindNamesGiven }
func (c *NamesNumbered) reset()   { *c = NamesNumbered{Names: c.Names[:0], Caps: c.Caps[:0]} }

func (c *NamesNumbered) encodeOrDecode(pb *protobufCodec) {
	messageListField(pb, 1, &c.Names)
	messageListField(pb, 2, &c.Caps)
}

func (n *NumberedName) encodeOrDecode(pb *protobufCodec) {
	enumField(pb, 1, &n.Kind)
	uint32Field(pb, 2, &n.Ref)
	stringField(pb, 3, &n.ID)
}

func (n *NumberedCap) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &n.Ref)
	enumField(pb, 2, &n.Key.Scope)
	uint32Field(pb, 3, &n.Key.Campaign)
	uint32Field(pb, 4, &n.Key.Buyer)
	enumField(pb, 5, &n.Key.Unit)
	enumField(pb, 6, &n.Key.Period)
	stringField(pb, 7, &n.Key.Zone)
}
