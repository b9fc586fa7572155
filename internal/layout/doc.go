// Package layout holds the rules about the shape of the tree: which package may import
// which, sizes of files, functions and folders, names, the prose of comments and
// documents, commit subjects. The rules are tests. layout_test.go has the tables and
// applies the rules to this repository; rules_test.go breaks each rule once in a made-up
// tree.
package layout
