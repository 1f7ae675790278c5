// Package raster works on the pictures of pages: it fits them into limits, turns them, and encodes them. It keeps no state
// and reads no files.
package raster
