"""Samples in and out of files: the set folder, one file for each format under `formats`, and pictures.

Everything is streamed: a set is read and written sample by sample, and pictures lie in files named by their bytes' SHA-256.

    rows.py        what a reader yields: a sample, or the problem with its row
    set_folder.py  SampleSet and SetWriter: the folder that everything else in the house reads and writes
    images.py      pictures, checked once on the way in
    load.py        a path of any format -> an opened set
    convert.py     a benchmark's files or a file of any format -> a set folder or another format
    validate.py    every problem of a set or file
    take.py        a stratified sample of a set
    show.py        a sample as text for people
"""
