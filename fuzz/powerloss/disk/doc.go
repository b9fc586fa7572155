// Package disk is a model of a disk that may lose whatever was not synced.
//
// It is told the calls of a process (package strace) and keeps two views of a
// folder. The live one is what the process saw, page cache included; after each
// life it is compared with the real folder, byte for byte, so that the model is
// known to have followed. The other is what could be there after the power went:
// Lose draws one of the many that are possible.
//
// # What may be lost
//
// A call has certainly had its effect once it returned, and may have had it
// since it began. An fsync covers what had returned before the fsync began, and
// only once it returned itself.
//
// Of a file, fsync and fdatasync make the bytes and the size durable, and never
// its name. What was written since then is there or not for each page of 4,096
// bytes by itself, in any order, also as it was in between; a page may be torn at
// any byte; the size is any that the file had, so that there may be zeros where
// no page came. sync_file_range promises nothing and changes nothing here.
//
// Of a folder, fsync makes the entries durable. What was changed since then is
// lost in one of three ways, drawn for each crash:
//
//   - Ordered: the changes of all folders are one journal, and its end is lost.
//     What was synced takes all before it with it. So do ext4 and XFS.
//   - Scattered: each change is there or not by itself, though a rename is one
//     change. So may btrfs and f2fs, where fsync writes a log for what was asked.
//   - Twice: as scattered, and a rename may have made the new name and not yet
//     removed the old one, as under soft updates (UFS).
//
// Left out, with the reason: a rename of which only the removal arrived, since no
// file system that is worth the data does that; blocks of other, deleted files in
// place of zeros, which data=writeback shows; bits that change by themselves,
// which is no loss of power.
package disk
