/// Data codewords in blocks, each with its error correction, in the order in which they are placed (ISO/IEC 18004 section 7.6).
struct CodewordSequence {
    let interleaved: [UInt8]

    init(data: [UInt8], version: Int, errorCorrection: ErrorCorrection) {
        let blockCount = errorCorrection.blockCount(version: version)
        let code = ReedSolomonCode(degree: errorCorrection.correctionCodewords(version: version))
        // The last blocks are one codeword longer where they don't divide evenly.
        let shortLength = data.count / blockCount
        let shortCount = blockCount - data.count % blockCount
        var blocks: [(data: ArraySlice<UInt8>, correction: [UInt8])] = []
        var start = 0
        for index in 0..<blockCount {
            let end = start + shortLength + (index < shortCount ? 0 : 1)
            blocks.append((data[start..<end], code.correction(of: data[start..<end])))
            start = end
        }
        var sequence: [UInt8] = []
        for offset in 0...shortLength {
            for block in blocks where offset < block.data.count { sequence.append(block.data[block.data.startIndex + offset]) }
        }
        for offset in 0..<code.degree {
            for block in blocks { sequence.append(block.correction[offset]) }
        }
        interleaved = sequence
    }
}
